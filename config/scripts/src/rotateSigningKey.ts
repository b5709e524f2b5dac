import { parseArgs } from 'node:util';
import { createAuthorizationServerRecords, rotateTokenSigningKey } from '@behalf/gateway/facade';
import { CommandError, environment, parts, runCommand } from './environment.ts';
import { withPrimary } from './openedPrimary.ts';

await runCommand(async () => {
  const { values } = parseArgs({ options: { now: { type: 'boolean' } } });
  const { now = false } = values;
  return withPrimary(environment(), async (store, keyring) => {
    const records = createAuthorizationServerRecords({
      store: store.authorizationServer,
      keyring,
      clock: parts.clock,
    });
    const kid = await rotateTokenSigningKey({ records, changes: store.changes, ...parts }, now);
    if (kid === null) {
      throw new CommandError('Too many keys still verify tokens. Wait ten minutes, or give --now.');
    }
    const before = now ? 'Tokens by the keys before it count no more.' : 'What was signed before stays good.';
    return `The authorization server signs with ${kid}. ${before}`;
  });
});
