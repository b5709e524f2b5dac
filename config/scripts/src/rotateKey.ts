import { rotateStore } from '@behalf/stores/copy';
import { openPrimary } from '@behalf/stores/open';
import { environment, keysOf, parts, runCommand } from './environment.ts';

await runCommand(async () => {
  const env = environment();
  const keys = keysOf(env);
  const store = await openPrimary({ dataDir: env.BEHALF_DATA_DIR, mongoUri: env.MONGO_URI }, parts);
  try {
    const done = await rotateStore({ store, keys, random: parts.random });
    const counts = done
      .filter(({ sealed }) => sealed > 0)
      .map(({ collection, sealed, resealed }) => `${collection} ${resealed} of ${sealed}`)
      .join(', ');
    const next =
      keys.length > 1 ? ' Now take the other keys out of CREDS_KEY, everywhere, and start the gateways.' : '';
    return `Sealed anew: ${counts}. Every value opens with the first key alone.${next}`;
  } finally {
    await store.close();
  }
});
