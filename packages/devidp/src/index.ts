export { createBrowser, type Browser, type BrowserParts, type Visit } from './browser.ts';
export type { DevClient } from './clients.ts';
export { createDevIdp, type DevIdp, type DevIdpOptions } from './createDevIdp.ts';
export type { Federation } from './exchange/clientProofs.ts';
export type { RecordedRequest, RecordedSignIn, RequestLog } from './exchange/requestLog.ts';
export type { DevResource } from './exchange/resources.ts';
export type { Behaviour, Switch, SwitchChoice, Switches } from './exchange/switches.ts';
export type { SigningKey } from './signingKeys.ts';
export {
  createDevAuthority,
  type ClientCertificate,
  type DevAuthority,
  type IssuedCertificate,
} from './tls/devAuthority.ts';
export { createTrustingFetch } from './tls/trustingFetch.ts';
export type { TokenOptions, Tokens } from './tokens.ts';
export type { DevUser } from './users.ts';
