import { parseArgs } from 'node:util';
import { copyStore } from '@behalf/stores/copy';
import {
  CommandError,
  readEnvironment,
  readKeyring,
  systemParts,
  runScript,
  readVariables,
} from './environment.ts';
import { isSameStore, openStoreTarget, parseStoreTarget } from './storeTarget.ts';

const USAGE =
  'Usage: npm run store -- copy --from STORE --to STORE; a STORE is sqlite:FILE, mongodb://..., or env:NAME for a variable that holds one of these.';

await runScript(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { from: { type: 'string' }, to: { type: 'string' } },
  });
  if (positionals.join(' ') !== 'copy' || !values.from || !values.to) throw new CommandError(USAGE);
  const source = parseStoreTarget(values.from, readVariables());
  const target = parseStoreTarget(values.to, readVariables());
  if (!source || !target) throw new CommandError(USAGE);
  if (isSameStore(source, target)) throw new CommandError('Source and target are the same store.');
  const keyring = readKeyring(readEnvironment());
  const sourceStore = await openStoreTarget(source, { mustExist: true });
  try {
    const targetStore = await openStoreTarget(target, { mustExist: false });
    try {
      const copies = await copyStore({
        from: sourceStore,
        to: targetStore,
        keyring,
        random: systemParts.random,
        onProgress: ({ collection, copied, total }) =>
          process.stderr.write(`${collection}: ${copied} of ${total}\n`),
      });
      const counts = copies.map(({ collection, total }) => `${total} ${collection}`).join(', ');
      return `Copied and verified: ${counts}. Configure the gateway to use the new store with the same CREDS_KEY.`;
    } finally {
      await targetStore.close();
    }
  } finally {
    await sourceStore.close();
  }
});
