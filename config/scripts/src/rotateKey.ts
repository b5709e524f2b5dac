import { rotateStore, type Rotation } from '@behalf/stores/copy';
import { openPrimary } from '@behalf/stores/open';
import { environment, keysOf, parts, runCommand } from './environment.ts';

await runCommand(async () => {
  const env = environment();
  const keys = keysOf(env);
  const store = await openPrimary({ dataDir: env.BEHALF_DATA_DIR, mongoUri: env.MONGO_URI }, parts);
  try {
    const done = await rotateStore({ store, keys, random: parts.random });
    const told = [
      `Sealed anew: ${listOf(done, ({ sealed, resealed }) => (sealed > 0 ? `${resealed} of ${sealed}` : null))}.`,
      'Every value opens with the first key alone.',
    ];
    const unreadable = listOf(done, (each) => (each.unreadable > 0 ? String(each.unreadable) : null));
    if (unreadable !== '') told.push(`Left as they are, because no key opens them: ${unreadable}.`);
    if (keys.length > 1) told.push('Now take the other keys out of CREDS_KEY, everywhere.');
    return told.join(' ');
  } finally {
    await store.close();
  }
});

function listOf(done: readonly Rotation[], shown: (each: Rotation) => string | null): string {
  return done
    .map((each) => ({ collection: each.collection, text: shown(each) }))
    .filter(({ text }) => text !== null)
    .map(({ collection, text }) => `${collection} ${text}`)
    .join(', ');
}
