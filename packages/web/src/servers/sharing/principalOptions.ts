import type { FoundPrincipal } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Picked } from './shareDraft.ts';

/** Somebody to choose, and what is to be said about them. */
export interface PrincipalOption extends Picked {
  readonly note?: string;
}

/** The role that everybody begins with: sharing with it is sharing with all. */
const EVERYBODYS_ROLE = 'USER';

/**
 * Who can be chosen: whom the gateway found, without those who have it already, and a group of the name that was typed.
 * Which groups there are, tokens say; so any name may be one.
 */
export function optionsOf(
  found: readonly FoundPrincipal[],
  typed: string,
  { isTaken, mayPublic }: { readonly isTaken: (found: Picked) => boolean; readonly mayPublic: boolean },
): PrincipalOption[] {
  const note = strings.servers.sharing.asGroupHint;
  const group: PrincipalOption = { type: 'group', id: typed, name: typed, note };
  const isKnown = found.some(({ type, id }) => type === 'group' && id === typed);
  return [...found, ...(isKnown ? [] : [group])].filter(
    (one) => !isTaken(one) && (mayPublic || one.type !== 'role' || one.id !== EVERYBODYS_ROLE),
  );
}
