import { aggregate, count, find, getMore, killCursors } from './commands/reads.ts';
import { assertKnownFields, type CommandContext, type Handler } from './commands/context.ts';
import {
  create,
  createIndexes,
  drop,
  dropDatabase,
  dropIndexes,
  listCollections,
  listIndexes,
} from './commands/definitions.ts';
import { findAndModify, insert, remove, update } from './commands/writes.ts';
import { buildInfoReply } from './commands/handshake.ts';
import { isCommandName, manifest, type CommandName } from './manifest.ts';
import { notInManifest, ServerError } from './serverError.ts';
import { isDoc, type Doc } from './values.ts';

/** The server handles hello and endSessions, because it knows its address and sessions. */
type DataCommand = Exclude<CommandName, 'hello' | 'ismaster' | 'endSessions'>;

const handlers: Record<DataCommand, Handler> = {
  ping: () => ({ ok: 1 }),
  buildInfo: buildInfoReply,
  insert,
  update,
  delete: remove,
  find,
  getMore,
  killCursors,
  findAndModify,
  aggregate,
  count,
  create,
  drop,
  createIndexes,
  listIndexes,
  dropIndexes,
  listCollections,
  dropDatabase,
};

/** The name of the command is its first field. `isMaster` is the old spelling of hello. */
export function commandNameOf(command: Doc): CommandName {
  const first = Object.keys(command)[0] ?? '';
  const name = first === 'isMaster' ? 'ismaster' : first;
  if (!isCommandName(name)) {
    throw new ServerError(59, 'CommandNotFound', `Mongo test double: no such command: '${first}'`);
  }
  return name;
}

/** Rejects options, concerns and preferences that the manifest does not list. */
export function checkOptions(name: CommandName, command: Doc): void {
  const allowed: readonly string[] = [...manifest.commands[name], ...manifest.generalOptions];
  for (const option of Object.keys(command).slice(1)) {
    if (!allowed.includes(option)) throw notInManifest(`the option '${option}' of ${name}`);
  }
  const { writeConcern, readConcern, $readPreference: preference } = command;
  if (writeConcern !== undefined) {
    const { w } = assertKnownFields(writeConcern, manifest.writeConcern.fields, 'writeConcern');
    if (w !== undefined && !(manifest.writeConcern.w as readonly unknown[]).includes(w)) {
      throw notInManifest(`the write concern w: ${JSON.stringify(w)}`);
    }
  }
  if (readConcern !== undefined) {
    const { level } = assertKnownFields(readConcern, ['level'], 'readConcern');
    if (level !== undefined && !(manifest.readConcernLevels as readonly unknown[]).includes(level)) {
      throw notInManifest(`the read concern ${JSON.stringify(level)}`);
    }
  }
  if (preference !== undefined) {
    const mode = isDoc(preference) ? preference['mode'] : undefined;
    if (!(manifest.readPreferenceModes as readonly unknown[]).includes(mode)) {
      throw notInManifest(`the read preference ${JSON.stringify(mode)}`);
    }
  }
}

export function runCommand(name: DataCommand, command: Doc, context: CommandContext): Doc {
  return handlers[name](command, context);
}
