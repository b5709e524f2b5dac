import { credentialId, type CredentialKey, type CredentialRecord } from '../../ports/index.ts';
import type { BegunRead, Snapshots } from './snapshots.ts';
import type { StoreTime } from './storeTime.ts';
import type { VaultTools } from './vaultParts.ts';
import { createReadView, type CredentialView } from './view.ts';

/** Where credentials are read. All of it rejects when the store does not answer. */
export interface Reading {
  /** A moment old at most, and read once for all who ask together. */
  current(key: CredentialKey): Promise<CredentialView>;
  /** As the store has it now, with the refresh token. */
  anew(key: CredentialKey): Promise<CredentialView>;
  /** What we have just written is known without reading it. */
  learn(view: CredentialView): void;
}

export interface ReadingParts extends Pick<VaultTools, 'store' | 'keyring' | 'contexts' | 'dpop'> {
  readonly snapshots: Snapshots;
  readonly time: StoreTime;
  /** With what this process could not store yet. */
  readonly shown: (record: CredentialRecord) => CredentialRecord;
}

export function createReading({ store, snapshots, time, shown, ...parts }: ReadingParts): Reading {
  const readView = createReadView(parts);
  const loads = new Map<string, { readonly read: BegunRead; readonly view: Promise<CredentialView> }>();

  async function finish(
    key: CredentialKey,
    read: BegunRead,
    record: Promise<CredentialRecord | null>,
  ): Promise<CredentialView> {
    let view: CredentialView | undefined;
    try {
      const found = await record;
      view = await readView(key, found && shown(found));
      return view;
    } finally {
      snapshots.end(read, view);
    }
  }

  async function find(key: CredentialKey): Promise<CredentialRecord | null> {
    const [record] = await Promise.all([store.find(key), time.sample()]);
    return record;
  }

  return {
    async current(key) {
      const id = credentialId(key);
      const fresh = snapshots.fresh(id);
      if (fresh) return fresh;
      const under = loads.get(id);
      if (under && !under.read.isSpoiled) return under.view;
      const read = snapshots.begin(id);
      const load = { read, view: finish(key, read, find(key)) };
      loads.set(id, load);
      const forget = () => {
        if (loads.get(id) === load) loads.delete(id);
      };
      load.view.then(forget, forget);
      return load.view;
    },
    anew: (key) => finish(key, snapshots.begin(credentialId(key)), find(key)),
    learn: (view) => snapshots.end(snapshots.begin(credentialId(view.key)), view),
  };
}
