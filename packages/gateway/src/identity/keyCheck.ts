import { SealError, type Keyring } from '@behalf/kernel';
import { keyCheckContext, type SystemStore } from '../ports/index.ts';

const CHECK_VALUE = 'behalf';

/** Whether this process can read what the others wrote: a replica with another key must not start. */
export async function isStoreKeyValid(system: SystemStore, keyring: Keyring): Promise<boolean> {
  const stored = await system.getOrCreateKeyCheck(keyring.seal(CHECK_VALUE, keyCheckContext));
  try {
    return keyring.open(stored, keyCheckContext) === CHECK_VALUE;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
