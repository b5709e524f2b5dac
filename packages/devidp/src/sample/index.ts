export {
  createResourceAs,
  type RecordedGrant,
  type ResourceAs,
  type ResourceAsOptions,
} from './createResourceAs.ts';
export { createSampleServer, type SampleServer, type SampleServerOptions } from './createSampleServer.ts';
export type { CredentialLog, RecordedCredential } from './createSampleServer.ts';
export type { IssuerKeySource } from './createSampleServer.ts';
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
