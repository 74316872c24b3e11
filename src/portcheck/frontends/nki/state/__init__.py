"""What is known while a program is lowered: names, files, facts about sizes, changes that can be taken back."""
