export { eventually } from './system.ts';
export { aPrincipal } from './records.ts';
export { createFakeClock, type FakeClock } from './fakeClock.ts';
export { scriptedHttpServer } from './mcp/scriptedHttpServer.ts';
export { declaresTasks, scriptedTasks, tasksExtension, type ScriptedTasks } from './mcp/scriptedMethods.ts';
export {
  scriptedError,
  type ScriptedCall,
  type ScriptedHttpServer,
  type ScriptedMessage,
  type ScriptedOptions,
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedTool,
} from './mcp/scriptedExchange.ts';
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
} from './oauth/authorizationServer.ts';
export {
  guardedMcpServer,
  type GuardedMcpServer,
  type GuardedOptions,
  type GuardedRequest,
  type GuardSwitches,
} from './oauth/guardedMcpServer.ts';
export { oauthHash } from './oauth/authorizationCore.ts';
export { startAuthorizationServer } from './oauth/authorizationServer.ts';
export {
  describeWith,
  findProgram,
  freePort,
  startRedisServer,
  type RedisServer,
  type SystemProgram,
} from './system.ts';
