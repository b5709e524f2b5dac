import type { Keyring } from '@behalf/kernel';
import { toUserServer } from '../configure/requireReachable.ts';
import { toDraftSealContext, type DraftRecord } from '../ports/index.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import { compileStored } from '../registry/storedDefinition.ts';
import { toDraftName, type ServerDraft } from './draft.ts';

/** Null where it does not open, or what is in it would not be taken today. */
export function openDraft(keyring: Keyring, record: DraftRecord): ServerDraft | null {
  const { id, tenant, userId, canonicalUrl, createdAt, expiresAt } = record;
  const definition = readDefinition(keyring, record);
  if (!definition) return null;
  const name = toDraftName(id);
  // By its own name only here: as a definition that somebody sends, no such name is taken.
  const compiled = compileStored('draft', definition);
  if (!compiled.ok) return null;
  const server = toUserServer({ ...compiled.server, name }, { id, tenant, author: userId });
  return { id, tenant, userId, canonicalUrl, definition, server, createdAt, expiresAt };
}

function readDefinition(keyring: Keyring, record: DraftRecord): Fields | null {
  try {
    return JSON.parse(keyring.open(record.sealed, toDraftSealContext(record))) as Fields;
  } catch {
    return null;
  }
}
