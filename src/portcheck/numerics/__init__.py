"""Arithmetic of rounding: stages of a reduction and their heights. Pure; knows no kernels."""

from portcheck.numerics.trees import Stage, height, stage_height

__all__ = ["Stage", "height", "stage_height"]
