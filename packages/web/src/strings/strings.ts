import { admin } from './en/admin.ts';
import { blocks } from './en/blocks.ts';
import { call } from './en/call.ts';
import { chat } from './en/chat.ts';
import { common, shell } from './en/common.ts';
import { connect } from './en/connect.ts';
import { credentials } from './en/credentials.ts';
import { diagnosis } from './en/diagnosis.ts';
import { errors } from './en/errors.ts';
import { servers } from './en/servers.ts';
import { sets } from './en/sets.ts';
import { settings } from './en/settings.ts';
import { tools } from './en/tools.ts';

/**
 * Every word of the interface. A translation is another folder with the same shape: `typeof strings` is what it must
 * fill, and nothing outside this folder holds text for people.
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
