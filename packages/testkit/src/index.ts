export { eventually } from './eventually.ts';
export { aPrincipal } from './aPrincipal.ts';
export { createFakeClock, type FakeClock } from './fakeClock.ts';
export { scriptedHttpServer } from './mcp/scriptedHttpServer.ts';
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
export {
  describeWith,
  findProgram,
  freePort,
  startRedisServer,
  type RedisServer,
  type SystemProgram,
} from './system.ts';
export { verifies } from './verifies.ts';
