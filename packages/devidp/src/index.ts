export {
  createScriptedBrowser,
  type ScriptedBrowser,
  type ScriptedBrowserParts,
  type PageVisit,
} from './scriptedBrowser.ts';
export type { DevClient } from './directory.ts';
export { createDevIdp, type DevIdp, type DevIdpOptions } from './createDevIdp.ts';
export type { FederatedCredential } from './exchange/clientVerification.ts';
export type { RecordedRequest, RecordedSignIn, RequestLog } from './exchange/requestLog.ts';
export type { DevResource } from './exchange/resources.ts';
export type { FaultBehavior, FaultSwitch, FaultOptions, FaultSwitches } from './exchange/switches.ts';
export type { DevSigningKey } from './signingKeys.ts';
export {
  createDevAuthority,
  type ClientCertificate,
  type DevAuthority,
  type IssuedCertificate,
} from './devAuthority.ts';
export { createTrustingFetch } from './devAuthority.ts';
export type { MintOptions, TokenMinter } from './tokenMinter.ts';
export type { DevUser } from './directory.ts';
