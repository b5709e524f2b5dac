import type { CoordinationStore } from '@behalf/gateway/ports';
import { systemClock, systemRandom, type HeldLease } from '@behalf/kernel';
import type { StoreSpec } from './storeProcess.ts';

const parts = { clock: systemClock, random: systemRandom };

async function open(spec: StoreSpec): Promise<CoordinationStore> {
  switch (spec.kind) {
    case 'sqlite':
      return (await import('@behalf/stores/sqlite')).openSqliteStore({ ...parts, file: spec.file });
    case 'mongo':
      return (await import('@behalf/stores/mongo')).openMongoStore({ ...parts, uri: spec.uri });
    case 'redis':
      return (await import('@behalf/stores/redis')).openRedisStore({
        ...parts,
        uri: spec.uri,
        prefix: spec.prefix,
      });
  }
}

const store = open(JSON.parse(process.argv[2] ?? '') as StoreSpec);
const held = new Map<string, HeldLease>();

async function execute(method: string, args: unknown[]): Promise<unknown> {
  const opened = await store;
  switch (method) {
    case 'acquire': {
      const [key, ttlMs] = args as [string, number];
      const lease = await opened.leases.acquire(key, 'refresh', ttlMs);
      if (lease) held.set(key, lease);
      return lease?.owner ?? null;
    }
    case 'release': {
      const lease = held.get(args[0] as string);
      return lease ? lease.release() : false;
    }
    case 'ping':
      return opened.ping();
    default: {
      const [port = '', name = ''] = method.split('.');
      const target = (opened as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>)[
        port
      ];
      const operation = target?.[name];
      if (!operation) throw new Error(`Unknown store operation: ${method}`);
      return operation.apply(target, args);
    }
  }
}

process.on('message', ({ id, method, args }: { id: number; method: string; args: unknown[] }) => {
  execute(method, args).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
