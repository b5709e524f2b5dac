import type { Command } from '../command.ts';
import { blockCheck, blockList, blockRun } from './blocks.ts';
import { configCheck } from './configCheck.ts';
import { doctor } from './doctor.ts';
import { mcpAdd } from './mcpAdd.ts';
import { mcpCall } from './mcpCall.ts';
import { mcpList } from './mcpList.ts';
import { mcpLogin } from './mcpLogin.ts';
import { mcpLogout } from './mcpLogout.ts';
import { mcpReauth } from './mcpReauth.ts';
import { mcpRemove } from './mcpRemove.ts';
import { mcpTest } from './mcpTest.ts';
import { tokenImport } from './tokenImport.ts';
import { tokenList } from './tokenList.ts';

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
