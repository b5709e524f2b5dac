/** True in the build that benchmarks look at. */
declare const __COUNT_RENDERS__: boolean;
