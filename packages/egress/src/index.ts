export { createEgress, type Egress, type EgressParts, type FetchOptions } from './createEgress.ts';
export {
  EgressError,
  getEgressErrorCode,
  EgressPolicyError,
  egressReasons,
  type EgressReason,
} from './errors.ts';
export { HOP_HEADER } from './guardedRequest.ts';
export type { Audience, CheckedTarget } from './targetCheck.ts';
export type { Limits, Timeouts } from './httpExchange.ts';
export type { OwnEndpoints } from './targetCheck.ts';
export { compilePolicy, type EgressSettings } from './policy.ts';
export type { ProxyEnvironment } from './proxy.ts';
export { createSystemDial, systemDial, systemLocalAddresses, systemResolve } from './system.ts';
