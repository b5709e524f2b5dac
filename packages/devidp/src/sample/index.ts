export {
  createResourceAs,
  type RecordedGrant,
  type ResourceAs,
  type ResourceAsOptions,
} from '../resourceAs/createResourceAs.ts';
export { createSampleServer, type SampleServer, type SampleServerOptions } from './createSampleServer.ts';
export type { CredentialLog, SeenCredential } from './credentialLog.ts';
export type { TrustedIssuer } from './guard.ts';
export { demoScript } from './demoScript.ts';
export {
  startScriptedModel,
  type ModelRequestSeen,
  type ModelScript,
  type SaidMessage,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptStep,
  type ShownTool,
} from './scriptedModel.ts';
