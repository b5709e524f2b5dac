import { readFileSync } from 'node:fs';
import type { Env } from '@behalf/contracts';
import { isStoreKeyValid } from '@behalf/gateway';
import { type Clock, type Random, createKeyring } from '@behalf/kernel';
import { loadKeys, openCoordination, openPrimary } from '@behalf/stores/open';
import {
  type Disposables,
  EXIT_CONFIG,
  EXIT_TRY_LATER,
  StartError,
  createGatewayPresence,
  runConfigurationStep,
  runStoreStep,
  storeTargets,
} from '../runtime/lifecycle.ts';

interface StoreParts {
  env: Env;
  clock: Clock;
  random: Random;
  disposables: Disposables;
  onEvicted: () => void;
}

/** Opens the stores, checks the sealing key, and announces this process to copies of the store. */
export async function composeStores({ env, clock, random, disposables, onEvicted }: StoreParts) {
  const keys = runConfigurationStep(() =>
    loadKeys({ configured: env.CREDS_KEY, dataDir: env.BEHALF_DATA_DIR, random }),
  );
  const keyring = createKeyring(keys, random);
  const targets = runConfigurationStep(() => storeTargets(env, (file) => readFileSync(file, 'utf8')));
  const primary = await runStoreStep(targets, () => openPrimary(targets, { clock, random }));
  disposables.add(() => primary.close());
  const coordination = await runStoreStep(targets, () =>
    openCoordination(targets, primary, { clock, random }),
  );
  disposables.add(() => coordination.close());
  if (!(await runStoreStep(targets, () => isStoreKeyValid(primary.system, keyring)))) {
    throw new StartError(
      'CREDS_KEY is not the key this store was sealed with. Set the key the other replicas use, or restore it from a backup.',
      EXIT_CONFIG,
    );
  }
  const presence = createGatewayPresence({ system: primary.system, clock, random, onEvicted });
  if (!(await presence.begin())) {
    throw new StartError(
      'The store is in maintenance (a copy), or holds an unfinished copy. Start again when that is done.',
      EXIT_TRY_LATER,
    );
  }
  disposables.add(() => presence.end());
  return { keyring, primary, coordination, presence };
}
