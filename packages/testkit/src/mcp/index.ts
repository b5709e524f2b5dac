/** Scripted servers for programs without a test runner. */
export { scriptedHttpServer } from './scriptedHttpServer.ts';
export { declaresTasks, tasksExtension } from './scriptedMethods.ts';
export {
  scriptedError,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedTool,
} from './scriptedExchange.ts';
