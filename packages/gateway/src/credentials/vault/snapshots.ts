import { credentialId, isCurrent, type ChangeNotice, type ChangeTopic } from '../../ports/index.ts';
import { createRecent } from '../recent.ts';
import type { VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

const MOST_SNAPSHOTS = 20_000;
/** What a credential is for is decided by these: with one of them it may fit no longer. */
const DEFINITIONS: ReadonlySet<ChangeTopic> = new Set(['servers', 'overrides', 'settings']);

/** A read that is under way. */
export interface BegunRead {
  readonly id: string;
  readonly at: number;
  /** A notice came meanwhile: what it brings is good for who asked, and for nobody after. */
  isSpoiled: boolean;
}

/** Credentials as they were a moment ago: at most two seconds, and not after a notice. Holds no refresh token. */
export interface Snapshots {
  fresh(id: string): CredentialView | undefined;
  /** The same while the store does not answer: older, but not by much. */
  bearable(id: string): CredentialView | undefined;
  begin(id: string): BegunRead;
  end(read: BegunRead, view?: CredentialView): void;
  onNotice(notice: ChangeNotice): void;
  clear(): void;
}

interface Entry {
  readonly view: CredentialView;
  readonly readAt: number;
  /** The notices about everybody that had been heard when it was read. */
  readonly wiped: number;
}

export function createSnapshots({
  changes,
  localClock,
  timings,
}: Pick<VaultTools, 'changes' | 'localClock' | 'timings'>): Snapshots {
  const known = createRecent<Entry>(MOST_SNAPSHOTS);
  const reads = new Set<BegunRead>();
  let wiped = 0;

  function undoubted(id: string): Entry | undefined {
    const entry = known.get(id);
    return entry?.wiped === wiped ? entry : undefined;
  }

  return {
    fresh(id) {
      const entry = undoubted(id);
      const now = localClock.now();
      if (!entry || !isCurrent(changes, now, entry.readAt)) return undefined;
      return entry.view.record || now - entry.readAt < timings.absentMs ? entry.view : undefined;
    },
    bearable(id) {
      const entry = undoubted(id);
      if (!entry) return undefined;
      const knownAt = Math.max(entry.readAt, changes.checkedAt());
      return localClock.now() - knownAt < timings.outageMs ? entry.view : undefined;
    },
    begin(id) {
      const read = { id, at: localClock.now(), isSpoiled: false };
      reads.add(read);
      return read;
    },
    end(read, view) {
      reads.delete(read);
      if (!view || read.isSpoiled) return;
      const before = undoubted(read.id);
      if (before && before.readAt > read.at) return;
      const tokens = view.tokens && { ...view.tokens, refreshToken: undefined };
      known.set(credentialId(view.key), { view: { ...view, tokens }, readAt: read.at, wiped });
    },
    onNotice({ topic, id }) {
      const isAboutAll = DEFINITIONS.has(topic) || (topic === 'credentials' && id === '*');
      if (!isAboutAll && topic !== 'credentials') return;
      for (const read of reads) if (isAboutAll || read.id === id) read.isSpoiled = true;
      if (isAboutAll) wiped += 1;
      else known.delete(id);
    },
    clear: () => known.clear(),
  };
}
