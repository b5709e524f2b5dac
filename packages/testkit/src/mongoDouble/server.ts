import { createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock, type Clock } from '@behalf/kernel';
import { createCursors } from './commands/reads.ts';
import { createDatabases } from './collections.ts';
import { checkOptions, commandNameOf, runCommand } from './dispatch.ts';
import { createMember, helloReply, SET_NAME, type Member } from './commands/handshake.ts';
import { createFaults, type Faults } from './faults.ts';
import { isCommandName, manifest, type CommandName } from './manifest.ts';
import { createRetries } from './commands/context.ts';
import { notPrimaryForReads, notWritablePrimary, ServerError } from './serverError.ts';
import type { Doc } from './values.ts';
import { encodeReply, readMessages, type Request } from './wire.ts';

export interface ReceivedCommand {
  readonly name: string;
  readonly db: string;
  readonly command: Doc;
}

export interface MongoDouble {
  /** A connection string without a database. */
  readonly uri: string;
  uriFor(database: string): string;
  readonly faults: Faults;
  /** The latest 10,000 received commands, oldest first, without commands of the connection itself. */
  readonly receivedCommands: readonly ReceivedCommand[];
  /** Does what the TTL monitor does. Returns the number of removed documents. */
  removeExpired(): number;
  /** Idempotent. */
  close(): Promise<void>;
}

/** MongoDB's TTL monitor runs once a minute. Expired documents remain until then. */
const TTL_MONITOR_MS = 60_000;
const MAX_RECEIVED_COMMANDS = 10_000;

export interface MongoDoubleParts {
  /** The clock of `$$NOW` and of TTL indexes. */
  clock?: Clock;
}

/**
 * A test double of MongoDB in this process, on loopback: the wire protocol with in-memory documents. Commands run
 * one at a time, so each is atomic. It supports only what the manifest lists.
 */
export async function createMongoDouble(parts: MongoDoubleParts = {}): Promise<MongoDouble> {
  const clock = parts.clock ?? systemClock;
  const databases = createDatabases(() => clock.now());
  const cursors = createCursors();
  const retries = createRetries();
  const sockets = new Set<Socket>();
  const receivedCommands: ReceivedCommand[] = [];
  const faults = createFaults(() => sockets.forEach((socket) => socket.destroy()));
  let lastTtlRun = clock.now();
  let member: Member | null = null;

  function execute(name: CommandName, command: Doc): Doc {
    checkOptions(name, command);
    const now = new Date(clock.now());
    if (now.getTime() - lastTtlRun >= TTL_MONITOR_MS) {
      lastTtlRun = now.getTime();
      databases.removeExpired(lastTtlRun);
    }
    if (name === 'hello' || name === 'ismaster')
      return helloReply(member as Member, faults.isSteppedDown, now);
    if (name === 'endSessions') {
      retries.endSessions(command['endSessions'] as unknown[]);
      return { ok: 1 };
    }
    const isRetryable = command['txnNumber'] !== undefined;
    if (faults.shouldRefuseWrite(name)) throw notWritablePrimary(isRetryable);
    if (faults.isSteppedDown && !isHousekeeping(name)) throw notPrimaryForReads();
    const runOnce = retries.runOnceFor(name, command);
    const db = String(command['$db']);
    return runCommand(name, command, { db, databases, cursors, now, runOnce, isRetryable });
  }

  /** Null if the connection was closed instead. */
  function serve(request: Request): Doc | null {
    try {
      const name = commandNameOf(request.body);
      if (request.kind === 'legacy' && name !== 'hello' && name !== 'ismaster') {
        throw new ServerError(
          352,
          'UnsupportedOpQueryCommand',
          `OP_QUERY is for the handshake, not for ${name}`,
        );
      }
      if (!isHousekeeping(name)) {
        if (receivedCommands.length === MAX_RECEIVED_COMMANDS) receivedCommands.shift();
        receivedCommands.push({ name, db: String(request.body['$db']), command: request.body });
      }
      if (faults.shouldDrop(name, 'before')) return null;
      const reply = execute(name, request.body);
      return faults.shouldDrop(name, 'after') ? null : reply;
    } catch (error) {
      if (error instanceof ServerError) return error.toReply();
      return new ServerError(8, 'UnknownError', `Mongo test double failed: ${String(error)}`).toReply();
    }
  }

  const server = createServer((socket) => {
    if (faults.isUnreachable) return socket.destroy();
    sockets.add(socket);
    let pending: Buffer = Buffer.alloc(0);
    let queue: Promise<void> | null = null;

    const reply = (request: Request) => {
      const doc = socket.destroyed ? null : serve(request);
      if (doc === null) socket.destroy();
      else socket.write(encodeReply(request, doc));
    };
    // A held command keeps its position: later commands of the same connection wait behind it.
    const enqueue = (request: Request) => {
      const hold = faults.findHold(nameOrHello(request.body));
      if (hold || queue) queue = Promise.all([queue, hold]).then(() => reply(request));
      else reply(request);
    };

    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      try {
        const { requests, rest } = readMessages(Buffer.concat([pending, chunk]));
        pending = rest;
        requests.forEach(enqueue);
      } catch {
        socket.destroy();
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  member = createMember(`127.0.0.1:${port}`);

  let closing: Promise<void> | null = null;
  const uriFor = (database: string) => `mongodb://127.0.0.1:${port}/${database}?replicaSet=${SET_NAME}`;
  return {
    uri: uriFor(''),
    uriFor,
    faults,
    receivedCommands,
    removeExpired: () => databases.removeExpired(clock.now()),
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      });
      return closing;
    },
  };
}

function isHousekeeping(name: CommandName): boolean {
  return (manifest.housekeeping as readonly string[]).includes(name);
}

/** An unknown command is rejected later; it cannot be held. */
function nameOrHello(command: Doc): CommandName {
  const name = Object.keys(command)[0] ?? '';
  return isCommandName(name) ? name : 'hello';
}
