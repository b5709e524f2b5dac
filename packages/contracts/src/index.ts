export { errorCodes, errorKinds, httpStatus, jsonRpcNumber, type ErrorCode } from './errors/codes.ts';
export { Diagnostic, Problem } from './errors/problem.ts';
