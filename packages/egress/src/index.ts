export { createEgress, type Egress, type EgressParts, type FetchOptions } from './createEgress.ts';
export {
  EgressError,
  getEgressErrorCode,
  EgressPolicyError,
  egressReasons,
  type EgressReason,
} from './errors.ts';
export { HOP_HEADER } from './hop.ts';
export type { Audience, CheckedTarget } from './targetCheck.ts';
export type { Limits, Timeouts } from './limits.ts';
export type { OwnEndpoints } from './ownEndpoints.ts';
export { compilePolicy, type EgressSettings } from './policy.ts';
export type { ProxyEnvironment } from './proxySelector.ts';
export { createSystemDial, systemDial, systemLocalAddresses, systemResolve } from './system.ts';
