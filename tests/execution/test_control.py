"""Statements, executed: what a C++ compiler makes of the same text, written down."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

START = (0, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0)
"""What `x` holds before; `n` is 4."""

CASES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "return in a loop": (
        "__device__ int f(const int* a,int n){ for(int i=0;i<n;i++){ if(a[i]>3) return a[i]*10; } "
        "return -1; }",
        "x[0]=f(x+1,4); x[1]=f(x+2,1); x[2]=n;",
        (50, -1, 4, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "commas after assignments": (
        "",
        "int c=1; x[0]=(c+=10,c); x[1]=n>3?(c=3,c):(c=4,c+1); x[2]=n&&(c=7,c>6); x[3]=(c=1,c+=2,c*n);",
        (11, 3, 1, 12, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "two variables that meet": (
        "",
        "x[5]=0; for(int i=0,j=5;i<j;i+=1,j-=1) x[5]+=j*10+i; int k=1; for(int i=0,s=1;i<n;i+=s,s+=1) k=k*10+i; "
        "x[6]=k;",
        (0, 1, 2, 5, 3, 123, 1013, 0, 0, 0, 0, 0),
    ),
    "return in nested loop": (
        "__device__ int f(int n){ int s=0; for(int i=0;i<n;i++){ for(int j=0;j<n;j++){ s+=j; if(s>7) "
        "return s*100+i; } s+=1; } return s; }",
        "x[0]=f(n); x[1]=f(2); x[2]=f(0);",
        (801, 4, 0, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "return from a branch of several": (
        "__device__ void f(int* a,int n){ if(n>2){ a[0]=1; if(n>3) return; a[1]=2; } a[2]=3; }",
        "f(x,n); f(x+3,n-1); f(x+6,n-2);",
        (1, 1, 2, 1, 2, 3, 0, 0, 3, 0, 0, 0),
    ),
    "return behind a condition that never holds": (
        "__device__ int f(int v,int m){ if(m==0) return 9; else if(v>3) return 2; return 3; } "
        "template<int M> __device__ int g(int v){ if(M==0) return 9; else { if(v>3) return 2; } return 3; }",
        "x[0]=f(n,1); x[1]=f(1,1); x[2]=f(n,0); x[3]=g<1>(n); x[4]=g<1>(3); x[5]=g<0>(n);",
        (2, 3, 9, 2, 3, 9, 0, 0, 0, 0, 0, 0),
    ),
    "return from a block that runs once": (
        "__device__ int f(int n) { do { if (n > 3) return 7; n += 1; } while (0); return n; } "
        "__device__ void g(int* p, int n) { do { do { if (n > 3) return; p[0] = 5; } while (false); p[1] = 6; } "
        "while (0); p[2] = 7; }",
        "int s = 0; for (int i = 2; i < 5; ++i) s = s * 10 + f(i); x[0] = s; x[1] = f(1); g(x + 2, 1); g(x + 5, n);",
        (347, 2, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0),
    ),
    "return from a block that runs once in a loop or switch": (
        "__device__ int f(int n) { switch (n) { case 4: do { if (n == 4) return 3; } while (0); n = 7; break; "
        "case 1: do { n = 9; break; } while (0); n++; default: do { if (n > 10) return 8; n += 2; } while (0); } "
        "return -n; } "
        "__device__ int g(int n) { for (int i = 0; i < 5; ++i) { do { if (i > n) return i; n -= 1; } while (0); } "
        "return -n; }",
        "x[0] = f(n); x[1] = f(1); x[2] = f(40); x[3] = f(2); x[4] = g(n); x[5] = g(40);",
        (3, -12, 8, -4, 3, -35, 0, 0, 0, 0, 0, 0),
    ),
    "return from a loop over a list": (
        "__device__ int f(int n) { for (int v : {1, 5, 7}) { if (v > n) return v; } return -1; } "
        "__device__ void g(int* p, int n) { for (int v : {1, 5, 7}) { if (v > n) return; p[0] += v; } p[1] = 9; }",
        "x[0] = f(n); x[1] = f(9); g(x + 2, n); g(x + 4, 40);",
        (5, -1, 3, 5, 16, 9, 0, 0, 0, 0, 0, 0),
    ),
    "return before a label": (
        "__device__ int f(int n) { if (n > 3) goto out; if (n == 2) return 1; n *= 3; out: return n; } "
        "__device__ int g(int n) { do { if (n > 3) goto out; n += 1; if (n == 2) return 1; } while (0); n *= 3; "
        "out: return n; }",
        "x[0] = f(n); x[1] = f(1); x[2] = f(2); x[3] = g(n); x[4] = g(1); x[5] = g(2);",
        (4, 3, 1, 4, 1, 9, 0, 0, 0, 0, 0, 0),
    ),
    "two labels": (
        "__device__ int f(int n) { if (n == 1) goto a; if (n == 2) goto b; n = 10; a: n += 1; if (n == 11) return 99; "
        "b: n += 5; return n; }",
        "x[0] = f(n); x[1] = f(1); x[2] = f(2);",
        (99, 7, 7, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "while return": (
        "__device__ int g(int k){ while(true){ k=k*3+1; if(k>50) return k; if(k==13) break; } k+=5; "
        "return k; }",
        "x[0]=g(n); x[1]=g(4); x[2]=g(1);",
        (18, 18, 18, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "fall-through": (
        "",
        "switch(n){ case 1: x[0]=1; case 4: x[1]=2; case 2: x[2]=3; break; default: x[3]=4; case 9: "
        "x[4]=5; }",
        (0, 2, 3, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "break in the middle of a case": (
        "",
        "for(int i=0;i<5;i++){ switch(i){ case 0: x[0]=9; if(n==4) break; x[1]=7; break; case 1: "
        "x[2]=i; continue; case 3: { int q=i; if(q==3){ x[3]=q; break;} x[4]=1; } case 4: x[5]+=i; } "
        "x[6]+=1; }",
        (9, 1, 1, 3, 3, 4, 4, 0, 0, 0, 0, 0),
    ),
    "switch default middle": (
        "",
        "for(int i=0;i<4;i++) switch(i){ case 0: x[0]=1; break; default: x[1]+=i; break; case 2: "
        "x[2]=5; }",
        (1, 5, 5, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "switch in helper returns": (
        "__device__ int f(int k){ switch(k){ case 0: return 5; case 1: k+=10; break; case 2: if(k) "
        "return 7; default: k=99; } return k; }",
        "x[0]=f(0);x[1]=f(1);x[2]=f(2);x[3]=f(n);",
        (5, 11, 7, 99, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "goto out of two loops": (
        "",
        "for(int i=0;i<6;i++) for(int j=0;j<6;j++){ x[0]+=1; if(i*j==n) goto out; } x[1]=1; out: "
        "x[2]=2;",
        (11, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "goto skip": (
        "",
        "int a=1; if(n>3) goto skip; a=2; x[5]=1; skip: x[0]=a; a=7; x[1]=a;",
        (1, 7, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "goto past declarations": (
        "",
        "if(n>3) goto end; int i; i=5; int a[3]; int* p; a[1]=i; p=x; x[1]=a[1]; "
        "end: i=7; a[2]=n; x[0]=i+a[2]; if(n<3) x[5]=*p;",
        (11, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "goto past declarations that is not taken": (
        "",
        "if(n>7) goto end; int i; i=5; int a[3]; int* p; a[1]=i; p=x+1; x[1]=a[1]; "
        "end: i+=2; a[2]=n; x[0]=i+a[2]+*p;",
        (16, 5, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "goto helper": (
        "__device__ int f(int n){ int r=0; for(int i=0;i<n;i++){ r+=i; if(r>2) goto done; if(r>99) "
        "return 5; } r=50; done: r+=1000; return r; }",
        "x[0]=f(n); x[1]=f(2);",
        (1003, 1050, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "do while": (
        "",
        "int i=0; do { x[i]=i*2; i++; if(i==2) continue; if(i==3) break; } while(i<n); x[5]=i;",
        (0, 2, 4, 5, 3, 3, 0, 0, 0, 0, 0, 0),
    ),
    "comma for": (
        "",
        "int j; int k=0; for(j=0,k=10;j<k;j++,k-=2) x[j]=k; x[6]=j;x[7]=k;",
        (10, 8, 6, 4, 3, 0, 4, 2, 0, 0, 0, 0),
    ),
    "declarations in conditions": (
        "",
        "if(int q=n-1) x[0]=q; else x[1]=q+5; while(int z=n-x[2]) x[2]+=1;  switch(int w=n){case 4: "
        "x[3]=w;}",
        (3, 1, 4, 4, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "range for": (
        "",
        "int a[4]={1,2,3,4}; int s=0; for(int v : a) s+=v; for(auto& v : a) v*=2; for(int v : {5,6}) "
        "s+=v; for(int v : a) s+=v; x[0]=s;",
        (41, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "range for break": (
        "",
        "int a[4]={1,2,3,4}; for(int v : a){ if(v==3) break; x[0]+=v; }",
        (3, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "chain": (
        "",
        "int a,b; a=b=x[1]=n+1; x[0]=a+b; x[2]=(x[3]=4)+1; x[4]+=x[5]+=2;",
        (10, 5, 5, 4, 5, 2, 0, 0, 0, 0, 0, 0),
    ),
    "inc values": (
        "",
        "int i=0; x[i++]=5; x[++i]=i; x[3]=x[0]++ + ++x[0]; x[4]=i--; x[5]=i; int* p=x+6; *p++=1; "
        "*p=2;",
        (7, 1, 1, 12, 2, 1, 1, 2, 0, 0, 0, 0),
    ),
    "straight after return": (
        "__device__ int f(int n){ int a=1; if(n>3) return a; a=a+5; a*=2; return a; }",
        "x[0]=f(n); x[1]=f(2);",
        (1, 12, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "lambda": (
        "",
        "int acc=0; auto add=[&](int v){ acc+=v; if(acc>5) return acc; return -acc; }; x[0]=add(3); "
        "x[1]=add(4); x[2]=acc; auto sq=[](auto v){ return v*v; }; x[3]=sq(n); auto find=[=](int t){ "
        "for(int i=0;i<9;i++) if(i*i>=t) return i; return 100; }; x[4]=find(n); x[5]=find(300);",
        (-3, 7, 7, 16, 2, 100, 0, 0, 0, 0, 0, 0),
    ),
    "pointer result": (
        "__device__ int* pick(int* a,int k){ if(k>3) return a+2; return a; }",
        "*pick(x,n)=9; pick(x,1)[1]=8; int* p=pick(x+3,n); p[0]=7;",
        (0, 8, 9, 5, 3, 7, 0, 0, 0, 0, 0, 0),
    ),
    "template recursion": (
        "template<int N> __device__ int fac(){ if constexpr (N<=1) return 1; else return "
        "N*fac<N-1>(); }",
        "x[0]=fac<5>();",
        (120, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "template specialisation": (
        "template<int N> struct Dummy{}; template<int N> __device__ int tri(int a){ return "
        "a+tri<N-1>(a+1); } template<> __device__ int tri<0>(int a){ return 0; }",
        "x[0]=tri<4>(1);",
        (10, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "default arg": (
        "__device__ int f(int a,int b=3,int c=1){ return a*b+c; }",
        "x[0]=f(2); x[1]=f(2,5); x[2]=f(1,1,9);",
        (7, 11, 10, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "overloads": (
        "__device__ int f(int a){return 1;} __device__ int f(float a){return 2;} __device__ int "
        "f(double a){return 3;} __device__ int f(unsigned a){return 4;} __device__ int f(int a,int "
        "b){return 5;} __device__ int f(int*p){return 6;}",
        "x[0]=f(1);x[1]=f(1.f);x[2]=f(1.0);x[3]=f(1u);x[4]=f(1,2);x[5]=f(x); unsigned char c=3; "
        "x[6]=f(c); x[7]=f('a');",
        (1, 2, 3, 4, 5, 6, 1, 1, 0, 0, 0, 0),
    ),
    "function pointer": (
        "__device__ int add1(int a){return a+1;} typedef int (*fn)(int); __device__ fn table = add1; "
        "template<int (*F)(int)> __device__ int call(int a){ return F(a); } template<typename F> "
        "__device__ int call2(F f,int a){ return f(a); }",
        "x[0]=table(4); x[1]=call<add1>(5); x[2]=call2(add1,6); x[3]=call2([](int q){return q*2;},7); "
        "int (*loc)(int)=add1; x[4]=loc(9); x[5]=(*loc)(1);",
        (5, 6, 7, 14, 10, 2, 0, 0, 0, 0, 0, 0),
    ),
    "static local": (
        "__device__ int f(int a){ static const int k=7; const int t[3]={4,5,6}; return k+t[a]; }",
        "x[0]=f(1);",
        (12, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "names changed in an else": (
        "",
        "int a=1; int* p=x; if(n>3){ x[5]=1; } else { a=7; p=x+3; } x[0]=a; p[1]=9; int b; if(n>9) b=1; else "
        "b=2; x[6]=b; int c=0; if(n>9) x[7]=1; else c=4; x[8]=c;",
        (1, 9, 2, 5, 3, 1, 2, 0, 4, 0, 0, 0),
    ),
    "nested blocks": (
        "",
        "int a=1; { int a=2; { int a=3; x[0]=a; } x[1]=a; a=9; } x[2]=a; { a=4; } x[3]=a;",
        (3, 2, 1, 4, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "for no cond": (
        "",
        "int i=0; for(;;){ if(i>=n) break; x[i]=i; ++i; } for(;i>0;) { --i; x[5]+=i; }",
        (0, 1, 2, 3, 3, 6, 0, 0, 0, 0, 0, 0),
    ),
    "unsigned char loop": (
        "",
        "unsigned char c; int k=0; for(c=250;c!=3;c++) k++; x[0]=k; unsigned short s=65530; for(int "
        "i=0;i<10;i++) s++; x[1]=s; signed char d=120; for(int i=0;i<10;i++) d+=1; x[2]=d; int q=0; "
        "for(unsigned char e=10;e>4;e--) q+=e; x[3]=q; q=0; for (signed char e=0; e<10; e+=3) q+=e; "
        "x[4]=q;",
        (9, 4, -126, 45, 18, 0, 0, 0, 0, 0, 0, 0),
    ),
    "constexpr fn": (
        "constexpr int sq(int a){ return a*a; } template<int N> struct S{ static constexpr int v=N*2; "
        "};",
        "constexpr int k=sq(3)+1; int a[sq(2)]; for(int i=0;i<sq(2);i++) a[i]=k+i; x[0]=a[3];",
        (13, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "labels nested": (
        "",
        "int a=0; for(int i=0;i<4;i++){ if(i==1) goto next; a+=10; next: a+=1; } x[0]=a;",
        (34, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "if constexpr": (
        "template<bool B> __device__ int f(int a){ if constexpr (B) { return a; } else { a+=100; } "
        "return a+1; }",
        "x[0]=f<true>(1); x[1]=f<false>(1);",
        (1, 102, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "loop update continue": (
        "",
        "int s=0; for(int i=0;i<10;i+=(i%3)+1){ if(i%2) continue; s+=i; } x[0]=s;",
        (10, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "mutable param": (
        "__device__ int f(int a,int& b){ a+=2; b+=a; if(b>8) return b; b=b*2; return a; }",
        "int q=3; x[0]=f(n,q); x[1]=q; x[2]=f(1,x[3]);",
        (9, 9, 3, 16, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "float compound": (
        "",
        "int q=7; q*=1.5f; x[0]=q; unsigned char c=200; c+=50.7f; x[1]=c; float f=3; f/=2; x[2]=f*10; "
        "q=10; q/=2.5; x[3]=q; q-=0.5f; x[4]=q; short s=5; s*=1.9; x[5]=s; double d=1; d+=q; "
        "x[6]=d*4; x[7]=7/2*2.0f; x[8]=(int)-2.9f; x[9]=(int)0x1.8p3f; x[10]=1e1; x[11]='a'+1.5f;",
        (10, 250, 15, 4, 3, 9, 16, 6, -2, 12, 10, 98),
    ),
    "float loop": (
        "",
        "float t=0; for(float f=0.5f; f<4; f+=1.25f) t+=f; x[0]=t*4; double dd=0; for(double g=1; "
        "g>0.1; g/=2) dd+=g; x[1]=dd*1000; int k=0; for(float h=10; h; h-=2.5f) k++; x[2]=k; bool "
        "b=0.3f; x[3]=b; x[4]=!0.1; x[5]=0.5&&n; b=n; x[6]=b+b; x[7]=-b; x[8]=~b;",
        (21, 1875, 4, 1, 0, 1, 2, -1, -2, 0, 0, 0),
    ),
    "shadow param": (
        "__device__ int f(int n){ int r=0; for(int n=0;n<3;n++) r+=n; { int n=7; r+=n; } return "
        "r*10+n; }",
        "x[0]=f(n);",
        (104, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "macros": (
        "\n#define MIN2(a,b) ((a)<(b)?(a):(b))\n#define SQ(a) ((a)*(a))\n#define STEP(i) do { x[i] += "
        "SQ(i+1); if ((i) > 2) break; x[(i)+4] -= 1; } while (0)\n",
        "x[0]=MIN2(n,3)+SQ(n+1); STEP(1); STEP(3); for(int i=0;i<2;i++) STEP(i);",
        (29, 9, 2, 21, 2, -2, 0, 0, 0, 0, 0, 0),
    ),
    "nested loops labels": (
        "",
        "int c=0; for(int i=0;i<5;i++){ int j=0; while(true){ if(++j>i) break; if(j==2) continue; "
        "c+=j; } do { c+=100; if(i==3) goto done; } while(--j>0); } done: x[0]=c;",
        (706, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "early kernel return": (
        "",
        "if(n==4){ x[0]=1; if(x[3]==5) return; x[1]=2; } x[2]=3;",
        (1, 1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "recursion of closures": (
        "",
        "auto a=[&](int v){ auto b=[&](int w){ x[w]+=v; return w*2; }; return b(v)+b(v+1); }; "
        "x[5]=a(1);",
        (0, 2, 3, 5, 3, 6, 0, 0, 0, 0, 0, 0),
    ),
    "by value capture": (
        "",
        "int k=5; auto g=[k](int a){ return a+k; }; k=9; x[0]=g(1); x[1]=k; auto h=[=]() { return "
        "k*2; }; k=0; x[2]=h(); int m=1; auto inc=[&m]{ m++; }; inc(); inc(); x[3]=m;",
        (6, 9, 18, 3, 3, 0, 0, 0, 0, 0, 0, 0),
    ),
    "pointer walk": (
        "",
        "int* p=x; int* e=x+6; int s=0; while(p<e) s+=*p++; x[7]=s; p=e; while(p!=x) { --p; *p=p-x; } "
        "x[8]=e-p;",
        (0, 1, 2, 3, 4, 5, 0, 11, 6, 0, 0, 0),
    ),
    "ref swap": (
        "template<typename T> __device__ void sw(T& a,T& b){ T t=a; a=b; b=t; }",
        "int a=1,b=2; sw(a,b); x[0]=a*10+b; sw(x[3],x[4]); for(int i=0;i<2;i++) sw(x[i],x[i+1]);",
        (1, 2, 21, 3, 5, 0, 0, 0, 0, 0, 0, 0),
    ),
    "array locals": (
        "",
        "int a[3][2]={{1,2},{3,4}}; int b[]={5,6,7}; const int c[2]={n,n*2}; for(int i=0;i<3;i++) "
        "for(int j=0;j<2;j++) x[i*2+j]=a[i][j]; x[6]=b[n-2]; x[7]=sizeof(b)/sizeof(b[0]); x[8]=c[1]; "
        "int d[4]={}; d[n-1]++; x[9]=d[3]+d[0]; a[1][0]+=b[0]++; x[10]=a[1][0]+b[0];",
        (1, 2, 3, 4, 0, 0, 7, 3, 8, 1, 14, 0),
    ),
    "conditional nest": (
        "",
        "int r = n<2 ? 1 : n<5 ? (n&1 ? 2 : 3) : 4; x[0]=r; x[1] = (n>3 && x[3]==5) || "
        "x[9999999*(n<0)]; if (n>3) if (n>9) x[2]=7; else x[2]=8; unsigned u=n; x[5] = u-5 > 0 ? 1 : "
        "2; x[6] = (n-5) / 2; x[7]=(n-5)%3; x[8]=-7>>1; x[9]=(unsigned)-7>>28; x[10]=1<<n<<1;",
        (3, 1, 8, 5, 3, 1, 0, -1, -4, 15, 32, 0),
    ),
    "char tests": (
        "",
        "char c='z'; x[0]=c-'a'; x[1]='\\0'; x[2]='\\x41'; x[3]='\\''; signed char s=-1; unsigned char "
        "u=s; x[4]=u; x[5]=s==u; x[6]=(char)200; x[7]='\\101'; x[8]=L'a'; wchar_t w=L'b'; x[9]=w; "
        "x[10]=u'c'; ",
        (25, 0, 65, 39, 255, 0, -56, 65, 97, 98, 99, 0),
    ),
    "enums": (
        "enum E { A=3, B, C=B*2 }; enum class F : unsigned char { P=1, Q }; constexpr int K=C+1; "
        "template<E e> __device__ int g(){ return e; }",
        "E e=B; x[0]=e+1; x[1]=C; x[2]=(int)F::Q; F f=F::P; x[3]=f==F::P; switch(e){ case A: x[4]=1; "
        "break; case B: x[4]=9; } x[5]=K; x[6]=g<B>(); x[7]=static_cast<int>(f)+10;",
        (5, 8, 2, 1, 9, 9, 4, 11, 0, 0, 0, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements", "wanted"), CASES.values(), ids=CASES)
def test_statements_do_what_they_do_in_cxx(before: str, statements: str, wanted: tuple[int, ...]) -> None:
    text = f"{before}\n__global__ void k(int* x, int n) {{ {statements} }}"
    done = executed(text, {"x": np.array(START, np.int32), "n": 4}, 1, 1)
    assert done.stopped is None
    assert done.arrays["x"].tolist() == list(wanted)
