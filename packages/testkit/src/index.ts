export { eventually } from './eventually.ts';
export { aPrincipal } from './aPrincipal.ts';
export { createFakeClock, type FakeClock } from './fakeClock.ts';
export { scriptedHttpServer } from './mcp/scriptedHttpServer.ts';
export { declaresTasks, scriptedTasks, tasksExtension, type ScriptedTasks } from './mcp/scriptedTasks.ts';
export {
  scriptedError,
  type ScriptedCall,
  type ScriptedHttpServer,
  type ScriptedMessage,
  type ScriptedOptions,
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedTool,
} from './mcp/scriptedTypes.ts';
export { createTestNetwork, type TestNetwork } from './mcp/testNetwork.ts';
export type {
  AccessTokenInfo,
  AuthorizationClient,
  AuthorizationCore,
  AuthorizationServer,
  AuthorizationServerOptions,
  AuthorizationSwitches,
  GrantedTokens,
  GrantRequest,
  ScriptedOAuthResponse,
  OAuthCounters,
  OAuthEndpoint,
  OAuthHold,
  OAuthRequest,
} from './oauth/authorizationServerTypes.ts';
export {
  guardedMcpServer,
  type GuardedMcpServer,
  type GuardedOptions,
  type GuardedRequest,
  type GuardSwitches,
} from './oauth/guardedMcpServer.ts';
export { oauthHash } from './oauth/oauthHash.ts';
export { startAuthorizationServer } from './oauth/startAuthorizationServer.ts';
export {
  describeWith,
  findProgram,
  freePort,
  startRedisServer,
  type RedisServer,
  type SystemProgram,
} from './system.ts';
