export {
  createResourceAs,
  type RecordedGrant,
  type ResourceAs,
  type ResourceAsOptions,
} from '../resourceAs/createResourceAs.ts';
export { createSampleServer, type SampleServer, type SampleServerOptions } from './createSampleServer.ts';
export type { CredentialLog, RecordedCredential } from './credentialLog.ts';
export type { IssuerKeySource } from './tokenGuard.ts';
export { demoScript } from './demoScript.ts';
export {
  startScriptedModel,
  type RecordedModelRequest,
  type ModelScript,
  type ScriptMessage,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptStep,
  type ScriptTool,
} from './scriptedModel.ts';
