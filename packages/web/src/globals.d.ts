/** True in benchmark builds. */
declare const __COUNT_RENDERS__: boolean;
