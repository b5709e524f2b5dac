import type { Env } from '@behalf/contracts';
import { isStoreKeyValid } from '@behalf/gateway';
import { WRITER_TTL_MS, type PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { CommandError, readKeyring, systemParts } from './environment.ts';

/** Opens the gateway's primary store for one command. Fails if the key does not match. */
export async function withPrimaryStore<T>(
  env: Env,
  work: (store: PrimaryStore, keyring: Keyring) => Promise<T>,
): Promise<T> {
  const keyring = readKeyring(env);
  const store = await openPrimary({ dataDir: env.BEHALF_DATA_DIR, mongoUri: env.MONGO_URI }, systemParts);
  try {
    if (!(await isStoreKeyValid(store.system, keyring))) {
      throw new CommandError('CREDS_KEY is not the key of this store. Set the key that the gateway uses.');
    }
    // The heartbeat of a writer keeps the store from being copied while the command writes.
    const writerId = systemParts.random.id();
    if ((await store.system.heartbeat(writerId, WRITER_TTL_MS)) === 'in_maintenance') {
      throw new CommandError('The store is being copied. Run this again when the copy is complete.');
    }
    try {
      return await work(store, keyring);
    } finally {
      await store.system.removeWriter(writerId);
    }
  } finally {
    await store.close();
  }
}
