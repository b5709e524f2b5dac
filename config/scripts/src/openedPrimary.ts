import type { Env } from '@behalf/contracts';
import { isStoreKeyValid } from '@behalf/gateway';
import { WRITER_TTL_MS, type PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { CommandError, keyringOf, parts } from './environment.ts';

/** The gateway's primary store for the length of one command, refused under a key that does not fit. */
export async function withPrimary<T>(
  env: Env,
  work: (store: PrimaryStore, keyring: Keyring) => Promise<T>,
): Promise<T> {
  const keyring = keyringOf(env);
  const store = await openPrimary({ dataDir: env.BEHALF_DATA_DIR, mongoUri: env.MONGO_URI }, parts);
  try {
    if (!(await isStoreKeyValid(store.system, keyring))) {
      throw new CommandError(
        'CREDS_KEY is not the key this store was sealed with. Set the key the gateway uses.',
      );
    }
    // A sign of life, as a gateway gives it: the store is not moved while the command writes, which takes a moment.
    const writer = parts.random.id();
    if ((await store.system.heartbeat(writer, WRITER_TTL_MS)) === 'in_maintenance') {
      throw new CommandError('The store is being copied. Run this again when that is done.');
    }
    try {
      return await work(store, keyring);
    } finally {
      await store.system.removeWriter(writer);
    }
  } finally {
    await store.close();
  }
}
