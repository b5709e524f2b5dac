import { parseArgs } from 'node:util';
import {
  createAuthorizationServerRecords,
  rotateTokenSigningKey,
} from '@behalf/gateway/authorization-server';
import { CommandError, readEnvironment, systemParts, runScript } from './environment.ts';
import { withPrimaryStore } from './withPrimaryStore.ts';

await runScript(async () => {
  const { values } = parseArgs({ options: { now: { type: 'boolean' } } });
  const { now = false } = values;
  return withPrimaryStore(readEnvironment(), async (store, keyring) => {
    const records = createAuthorizationServerRecords({
      store: store.authorizationServer,
      keyring,
      clock: systemParts.clock,
    });
    const kid = await rotateTokenSigningKey({ records, changes: store.changes, ...systemParts }, now);
    if (kid === null) {
      throw new CommandError('Too many keys still verify tokens. Wait ten minutes, or use --now.');
    }
    const oldTokensText = now
      ? 'Tokens signed by older keys are no longer valid.'
      : 'Tokens signed by older keys remain valid.';
    return `The authorization server now signs tokens with the key ${kid}. ${oldTokensText}`;
  });
});
