1,24c1,115
< DEAL::2-D curved simplices, none, p = 1 matrix: ok
< DEAL::2-D curved simplices, none, p = 1 rhs: ok
< DEAL::2-D curved simplices, none, p = 2 matrix: ok
< DEAL::2-D curved simplices, none, p = 2 rhs: ok
< DEAL::2-D curved simplices, none, p = 3 matrix: ok
< DEAL::2-D curved simplices, none, p = 3 rhs: ok
< DEAL::2-D curved simplices, steps, p = 1 matrix: ok
< DEAL::2-D curved simplices, steps, p = 1 rhs: ok
< DEAL::2-D curved simplices, steps, p = 2 matrix: ok
< DEAL::2-D curved simplices, steps, p = 2 rhs: ok
< DEAL::2-D curved simplices, steps, p = 3 matrix: ok
< DEAL::2-D curved simplices, steps, p = 3 rhs: ok
< DEAL::2-D curved simplices, scattered, p = 1 matrix: ok
< DEAL::2-D curved simplices, scattered, p = 1 rhs: ok
< DEAL::2-D curved simplices, scattered, p = 2 matrix: ok
< DEAL::2-D curved simplices, scattered, p = 2 rhs: ok
< DEAL::2-D curved simplices, scattered, p = 3 matrix: ok
< DEAL::2-D curved simplices, scattered, p = 3 rhs: ok
< DEAL::3-D curved simplices, none, p = 1 matrix: FAILED, got 0.0118400, bound 1.00000e-12
< DEAL::3-D curved simplices, none, p = 1 rhs: FAILED, got 0.0321122, bound 1.00000e-12
< DEAL::3-D curved simplices, steps, p = 1 matrix: FAILED, got 0.000121235, bound 1.00000e-12
< DEAL::3-D curved simplices, steps, p = 1 rhs: FAILED, got 0.000625328, bound 1.00000e-12
< DEAL::3-D curved simplices, scattered, p = 1 matrix: FAILED, got 2.40407e-05, bound 1.00000e-12
< DEAL::3-D curved simplices, scattered, p = 1 rhs: FAILED, got 0.000126335, bound 1.00000e-12
---
> DEAL::2-D products: ok
> DEAL::2-D float: ok
> DEAL::2-D transpose of block Jacobi: ok
> DEAL::2-D inverse of a block: ok
> DEAL::2-D transpose of Chebyshev: ok
> DEAL::3-D products: ok
> DEAL::3-D float: ok
> DEAL::3-D transpose of block Jacobi: ok
> DEAL::3-D inverse of a block: ok
> DEAL::3-D transpose of Chebyshev: ok
> DEAL::2-D injection: ok
> DEAL::2-D injection at p = 3: ok
> DEAL::3-D injection: ok
> DEAL::3-D injection at p = 3: ok
> DEAL::2-D hypercubes, p = 1, iterations: ok
> DEAL::2-D hypercubes, p = 1, contraction: ok
> DEAL::2-D hypercubes, p = 1, contraction with five smoothing steps: ok
> DEAL::2-D hypercubes, p = 1, plain Galerkin takes as many or more: ok
> DEAL::2-D hypercubes, p = 2, iterations: ok
> DEAL::2-D hypercubes, p = 2, contraction: ok
> DEAL::2-D hypercubes, p = 2, contraction with five smoothing steps: ok
> DEAL::2-D hypercubes, p = 2, plain Galerkin takes as many or more: ok
> DEAL::2-D hypercubes, p = 3, iterations: ok
> DEAL::2-D hypercubes, p = 3, contraction: ok
> DEAL::2-D hypercubes, p = 3, contraction with five smoothing steps: ok
> DEAL::2-D hypercubes, p = 3, plain Galerkin takes as many or more: ok
> DEAL::2-D hypercubes, p = 4, iterations: ok
> DEAL::2-D hypercubes, p = 4, contraction: ok
> DEAL::2-D hypercubes, p = 4, contraction with five smoothing steps: ok
> DEAL::2-D hypercubes, p = 4, plain Galerkin takes as many or more: ok
> DEAL::2-D simplices, p = 1, iterations: ok
> DEAL::2-D simplices, p = 1, contraction: ok
> DEAL::2-D simplices, p = 1, contraction with five smoothing steps: ok
> DEAL::2-D simplices, p = 1, plain Galerkin takes as many or more: ok
> DEAL::2-D simplices, p = 4, iterations: ok
> DEAL::2-D simplices, p = 4, contraction: ok
> DEAL::2-D simplices, p = 4, contraction with five smoothing steps: ok
> DEAL::2-D simplices, p = 4, plain Galerkin takes as many or more: ok
> DEAL::3-D hypercubes, p = 1, iterations: ok
> DEAL::3-D hypercubes, p = 1, contraction: ok
> DEAL::3-D hypercubes, p = 1, contraction with five smoothing steps: ok
> DEAL::3-D hypercubes, p = 1, plain Galerkin takes as many or more: ok
> DEAL::3-D hypercubes, p = 2, iterations: ok
> DEAL::3-D hypercubes, p = 2, contraction: ok
> DEAL::3-D hypercubes, p = 2, contraction with five smoothing steps: ok
> DEAL::3-D hypercubes, p = 2, plain Galerkin takes as many or more: ok
> DEAL::3-D hypercubes, p = 3, iterations: ok
> DEAL::3-D hypercubes, p = 3, contraction: ok
> DEAL::3-D hypercubes, p = 3, contraction with five smoothing steps: ok
> DEAL::3-D hypercubes, p = 3, plain Galerkin takes as many or more: ok
> DEAL::3-D hypercubes, p = 4, iterations: ok
> DEAL::3-D hypercubes, p = 4, contraction: ok
> DEAL::3-D hypercubes, p = 4, contraction with five smoothing steps: ok
> DEAL::3-D hypercubes, p = 4, plain Galerkin takes as many or more: ok
> DEAL::2-D W cycles take fewer or as many iterations: ok
> DEAL::2-D hp, V and W cycles, both smoothers: symmetric: ok
> DEAL::2-D iterations of these: ok
> DEAL::2-D other preconditioners: symmetric: ok
> DEAL::2-D they pay: ok
> DEAL::2-D in single precision: ok
> DEAL::2-D in single precision, hp: ok
> DEAL::2-D same bits: ok
> DEAL::3-D W cycles take fewer or as many iterations: ok
> DEAL::3-D hp, V and W cycles, both smoothers: symmetric: ok
> DEAL::3-D iterations of these: ok
> DEAL::3-D other preconditioners: symmetric: ok
> DEAL::3-D they pay: ok
> DEAL::3-D in single precision: ok
> DEAL::3-D in single precision, hp: ok
> DEAL::3-D same bits: ok
> DEAL::2-D single precision, p = 1: ok
> DEAL::2-D no step(): ok
> DEAL::2-D single precision, p = 2: ok
> DEAL::2-D single precision, p = 3: ok
> DEAL::2-D single precision, p = 4: ok
> DEAL::2-D single precision, p = 5: ok
> DEAL::2-D single precision, p = 6: ok
> DEAL::2-D single precision, advection: ok
> DEAL::3-D single precision, p = 1: ok
> DEAL::3-D no step(): ok
> DEAL::3-D single precision, p = 2: ok
> DEAL::3-D single precision, p = 3: ok
> DEAL::3-D single precision, p = 4: ok
> DEAL::3-D single precision, p = 5: ok
> DEAL::3-D single precision, p = 6: ok
> DEAL::3-D which takes more than rounding: ok
> DEAL::3-D single precision, advection: ok
> DEAL::2-D advection, diffusion 1.000000: ok
> DEAL::2-D advection, diffusion 0.010000: ok
> DEAL::2-D advection, diffusion 0.000001: ok
> DEAL::2-D transpose of multigrid: ok
> DEAL::3-D advection, diffusion 1.000000: ok
> DEAL::3-D advection, diffusion 0.010000: ok
> DEAL::3-D advection, diffusion 0.000001: ok
> DEAL::3-D transpose of multigrid: ok
> DEAL::2-D ancestors: ok
> DEAL::2-D nested() of the agglomeration: ok
> DEAL::2-D groups of four: ok
> DEAL::2-D groups of four: ok
> DEAL::The hierarchy does not nest: c
> DEAL::3-D ancestors: ok
> DEAL::3-D nested() of the agglomeration: ok
> DEAL::3-D groups of four: ok
> DEAL::3-D groups of four: ok
> DEAL::The hierarchy does not nest: c
> DEAL::polytopes within materials: ok
> DEAL::iterations with a jump of 10^6: ok
> DEAL::The diagonal block of polytope 5 is singular: 
> DEAL::The matrix of the coarsest level of multigrid is singular or not positive definite: c
> DEAL::indefinite: ok
> DEAL::other matrix: ok
> DEAL::coarse matrices: ok
> DEAL::coarsest level: ok
> DEAL::not initialised: ok
> DEAL::sizes: ok
rc 1
