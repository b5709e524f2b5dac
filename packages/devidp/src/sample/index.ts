export { createSampleServer, type SampleServer, type SampleServerOptions } from './createSampleServer.ts';
export type { CredentialLog, SeenCredential } from './credentialLog.ts';
export type { TrustedIssuer } from './guard.ts';
