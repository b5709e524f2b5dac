import { rotateStore, type Rotation } from '@behalf/stores/copy';
import { openPrimary } from '@behalf/stores/open';
import { readEnvironment, readKeys, systemParts, runScript } from './environment.ts';

await runScript(async () => {
  const env = readEnvironment();
  const keys = readKeys(env);
  const store = await openPrimary({ dataDir: env.BEHALF_DATA_DIR, mongoUri: env.MONGO_URI }, systemParts);
  try {
    const rotations = await rotateStore({ store, keys, random: systemParts.random });
    const sentences = [
      `Re-encrypted: ${formatRotations(rotations, ({ sealed, resealed }) => (sealed > 0 ? `${resealed} of ${sealed}` : null))}.`,
      'The first key now decrypts every value.',
    ];
    const unreadable = formatRotations(rotations, (rotation) =>
      rotation.unreadable > 0 ? String(rotation.unreadable) : null,
    );
    if (unreadable !== '') sentences.push(`Unchanged, because no key decrypts them: ${unreadable}.`);
    if (keys.length > 1) sentences.push('Now remove the other keys from CREDS_KEY on all replicas.');
    return sentences.join(' ');
  } finally {
    await store.close();
  }
});

function formatRotations(
  rotations: readonly Rotation[],
  format: (rotation: Rotation) => string | null,
): string {
  return rotations
    .map((rotation) => ({ collection: rotation.collection, text: format(rotation) }))
    .filter(({ text }) => text !== null)
    .map(({ collection, text }) => `${collection} ${text}`)
    .join(', ');
}
