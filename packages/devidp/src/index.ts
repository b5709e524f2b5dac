export { createBrowser, type Browser, type Visit } from './browser.ts';
export type { DevClient } from './clients.ts';
export { createDevIdp, type DevIdp, type DevIdpOptions } from './createDevIdp.ts';
export type { SigningKey } from './signingKeys.ts';
export type { TokenOptions, Tokens } from './tokens.ts';
export type { DevUser } from './users.ts';
