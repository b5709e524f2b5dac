// A part of its own: what it is built on is loaded only where our own authorization server is enabled.
export { createClientGrants, grantSession, GRANT_LIFETIME_MS, type ClientGrants } from './clientGrants.ts';
export { createConsents, type Consents, type ConsentView } from './consents.ts';
export { createFacadeKeys, type FacadeKeys, type FacadeSecrets } from './facadeKeys.ts';
export { createFacadeRecords, type FacadeRecords } from './facadeRecords.ts';
export { createGrantBearers, GRANT_CLAIM, type GrantBearers } from './grantBearers.ts';
export { ACCESS_LIFETIME_MS, FACADE_ALGORITHM, rotateFacadeKey } from './signingKeys.ts';
export { createIdJags, type IdJags, type TrustedIssuer } from './idJag.ts';
