import { admin } from './en/admin.ts';
import { blocks } from './en/blocks.ts';
import { call, tools } from './en/tools.ts';
import { chat } from './en/chat.ts';
import { common, errors, shell } from './en/common.ts';
import { connect, credentials } from './en/connect.ts';
import { diagnosis, servers } from './en/servers.ts';
import { sets } from './en/sets.ts';
import { settings } from './en/settings.ts';

/**
 * All texts of the interface. A translation is another folder of type `typeof strings`. No other folder contains
 * texts for users.
 */
export const strings = {
  common,
  shell,
  errors,
  blocks,
  call,
  connect,
  credentials,
  diagnosis,
  chat,
  tools,
  servers,
  sets,
  admin,
  settings,
};
