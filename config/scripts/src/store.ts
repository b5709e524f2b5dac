import { parseArgs } from 'node:util';
import { copyStore } from '@behalf/stores/copy';
import { CommandError, environment, keyringOf, parts, runCommand, variables } from './environment.ts';
import { isSameStore, openTarget, parseTarget } from './storeTarget.ts';

const USAGE =
  'Usage: npm run store -- copy --from STORE --to STORE; a STORE is sqlite:FILE, mongodb://..., or env:NAME for a variable that holds one of these.';

await runCommand(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { from: { type: 'string' }, to: { type: 'string' } },
  });
  if (positionals.join(' ') !== 'copy' || !values.from || !values.to) throw new CommandError(USAGE);
  const source = parseTarget(values.from, variables());
  const target = parseTarget(values.to, variables());
  if (!source || !target) throw new CommandError(USAGE);
  if (isSameStore(source, target)) throw new CommandError('Source and target are the same store.');
  const keyring = keyringOf(environment());
  const from = await openTarget(source, { mustExist: true });
  try {
    const to = await openTarget(target, { mustExist: false });
    try {
      const done = await copyStore({
        from,
        to,
        keyring,
        random: parts.random,
        onProgress: ({ collection, copied, total }) =>
          process.stderr.write(`${collection}: ${copied} of ${total}\n`),
      });
      const counts = done.map(({ collection, total }) => `${total} ${collection}`).join(', ');
      return `Copied and verified: ${counts}. Point the gateway at the new store, with the same CREDS_KEY.`;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
});
