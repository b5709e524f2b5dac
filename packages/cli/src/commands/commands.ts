import type { Command } from '../command.ts';
import { blockCheck, blockList, blockRun } from './blocks.ts';
import { configCheck } from './configCheck.ts';
import { doctor, mcpTest } from './diagnose.ts';
import { mcpAdd, mcpList, mcpRemove } from './servers.ts';
import { mcpCall } from './mcpCall.ts';
import { mcpLogin, mcpLogout, mcpReauth } from './login.ts';
import { tokenImport, tokenList } from './tokens.ts';

export const commands: readonly Command[] = [
  mcpList,
  mcpAdd,
  mcpRemove,
  mcpTest,
  mcpCall,
  mcpLogin,
  mcpLogout,
  mcpReauth,
  blockList,
  blockCheck,
  blockRun,
  tokenImport,
  tokenList,
  doctor,
  configCheck,
];
