import { formatPath, normalizeServerName } from '@behalf/contracts';
import { SealError, type Clock, type Keyring, type Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  serverContext,
  type ChangeFeed,
  type ServerStore,
  type StoredServerRecord,
  type UserVariableStore,
} from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import { compileStored } from './storedDefinition.ts';
import { placesOf } from './valuePlaces.ts';

/** A stored server, opened. What it says is a user's word and not yet judged. */
export interface StoredDefinition {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly author: string;
  readonly version: number;
  readonly definition: unknown;
}

export interface StoredServerParts {
  readonly servers: ServerStore;
  readonly variables: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Servers that users define. Who may do so is decided before. */
export interface StoredServers {
  /** `taken` when the name, or one that reads the same in tool names, exists in the tenant. */
  create(server: {
    tenant: string;
    name: string;
    author: string;
    definition: unknown;
  }): Promise<StoredDefinition | 'taken'>;
  change(
    server: { tenant: string; id: string; name: string; definition: unknown; by: string },
    seenVersion: number,
  ): Promise<'changed' | 'taken' | 'version_conflict' | 'missing'>;
  /** With every value that users entered for it. */
  remove(tenant: string, id: string): Promise<boolean>;
  /** All that can be opened; one that cannot is logged and left out. */
  load(): Promise<StoredDefinition[]>;
  /**
   * Calls back with all of them now and after each change, at most two seconds late. When the store has not answered
   * for half a minute the answer is none: what was taken away meanwhile must not go on serving.
   */
  follow(listener: (servers: readonly StoredDefinition[]) => void): Following;
}

export interface Following {
  /** Resolves when the first answer, or the first failure, has come. */
  readonly ready: Promise<void>;
  stop(): void;
}

const POLL_MS = 2_000;
const PATIENCE_MS = 30_000;

export function createStoredServers(parts: StoredServerParts): StoredServers {
  const { servers, variables, keyring, changes, clock, random, log } = parts;

  function open(record: StoredServerRecord): StoredDefinition[] {
    try {
      const { id, tenant, name, author, version, configSealed } = record;
      const definition: unknown = JSON.parse(keyring.open(configSealed, serverContext(record)));
      return [{ id, tenant, name, author, version, definition }];
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('stored_server_unreadable', { server: record.name, reason });
      return [];
    }
  }

  const load = async () => (await servers.list()).flatMap(open);
  const tell = (id: string) => changes.publish({ topic: 'servers', id });

  /** Also where they are remembered: told before the definition is, so that nobody joins old values to a new place. */
  const forgetValues = async (tenant: string, id: string) => {
    await variables.removeOfServer(tenant, id);
    await changes.publish({ topic: 'variables', id: '*' });
  };

  return {
    async create({ tenant, name, author, definition }) {
      check(name, definition);
      const id = random.id();
      const now = clock.now();
      const outcome = await servers.insert({
        id,
        tenant,
        name,
        normalizedName: normalizeServerName(name),
        author,
        version: 1,
        configSealed: keyring.seal(JSON.stringify(definition), serverContext({ tenant, id })),
        createdAt: now,
        updatedAt: now,
        updatedBy: author,
      });
      if (outcome === 'taken') return 'taken';
      await tell(id);
      return { id, tenant, name, author, version: 1, definition };
    },
    async change({ tenant, id, name, definition, by }, seenVersion) {
      check(name, definition);
      const record = await servers.find(tenant, id);
      if (!record) return 'missing';
      if (record.version !== seenVersion) return 'version_conflict';
      // Who changes where users' values go must not get those that were entered for another place. Taken away before,
      // so that no failure leaves them behind, and after, for who enters one meanwhile.
      const [known] = open(record);
      const moved = !known || placesOf(known.definition) !== placesOf(definition);
      if (moved) await forgetValues(tenant, id);
      const outcome = await servers.replace(
        {
          ...record,
          name,
          normalizedName: normalizeServerName(name),
          version: seenVersion + 1,
          configSealed: keyring.seal(JSON.stringify(definition), serverContext({ tenant, id })),
          updatedAt: clock.now(),
          updatedBy: by,
        },
        seenVersion,
      );
      if (outcome !== 'replaced') return outcome;
      if (moved) await forgetValues(tenant, id);
      await tell(id);
      return 'changed';
    },
    async remove(tenant, id) {
      const removed = await servers.remove(tenant, id);
      // Only then: an id that is no stored server's may be one of the file, whose values stay.
      if (!removed) return false;
      await variables.removeOfServer(tenant, id);
      await tell(id);
      return true;
    },
    load,
    follow: (listener) => follow({ ...parts, load }, listener),
  };
}

function check(name: string, definition: unknown): void {
  const compiled = compileStored(name, definition);
  if (compiled.ok) return;
  throw new GatewayError('MCP_CONFIG_INVALID', {
    errors: compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: formatPath(path) })),
  });
}

function follow(
  { servers, changes, clock, log, load }: StoredServerParts & Pick<StoredServers, 'load'>,
  listener: (servers: readonly StoredDefinition[]) => void,
): Following {
  let seen: string | null = null;
  let answeredAt = clock.now();
  let stopped = false;
  let reading: Promise<void> | null = null;
  let wanted = false;

  async function read(): Promise<void> {
    try {
      const versions = JSON.stringify(await servers.versions());
      if (versions !== seen) {
        const loaded = await load();
        if (stopped) return;
        listener(loaded);
        // Only now: a failed load is repeated. A change in between shows as another list of versions.
        seen = versions;
      }
      answeredAt = clock.now();
    } catch {
      if (stopped || seen === null || clock.now() - answeredAt < PATIENCE_MS) return;
      log('stored_servers_unavailable', { forMs: clock.now() - answeredAt });
      seen = null;
      listener([]);
    }
  }

  /** One at a time; a notice during a read asks for another after it. */
  async function readAll(): Promise<void> {
    while (wanted && !stopped) {
      wanted = false;
      await read();
    }
    reading = null;
  }

  function refresh(): Promise<void> {
    wanted = true;
    reading ??= readAll();
    return reading;
  }

  const poll = (): void => {
    if (stopped) return;
    void refresh();
    cancel = clock.timer(POLL_MS, poll);
  };
  const leave = changes.subscribe(({ topic }) => {
    if (topic === 'servers' && !stopped) void refresh();
  });
  const ready = refresh();
  let cancel = clock.timer(POLL_MS, poll);
  return {
    ready,
    stop() {
      stopped = true;
      cancel();
      leave();
    },
  };
}
