import type { FoundPrincipal } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { PrincipalCandidate } from './shareDraft.ts';

/** Somebody to choose, and what is to be said about them. */
export interface PrincipalOption extends PrincipalCandidate {
  readonly note?: string;
}

/** The role that everybody begins with: sharing with it is sharing with all. */
const DEFAULT_ROLE = 'USER';

/**
 * Who can be chosen: whom the gateway found, without those who have it already, and a group of the name that was typed.
 * Which groups there are, tokens say; so any name may be one.
 */
export function toPrincipalOptions(
  found: readonly FoundPrincipal[],
  typed: string,
  {
    isAlreadyAdded,
    canSharePublicly,
  }: {
    readonly isAlreadyAdded: (candidate: PrincipalCandidate) => boolean;
    readonly canSharePublicly: boolean;
  },
): PrincipalOption[] {
  const note = strings.servers.sharing.asGroupHint;
  const group: PrincipalOption = { type: 'group', id: typed, name: typed, note };
  const isKnown = found.some(({ type, id }) => type === 'group' && id === typed);
  return [...found, ...(isKnown ? [] : [group])].filter(
    (option) =>
      !isAlreadyAdded(option) && (canSharePublicly || option.type !== 'role' || option.id !== DEFAULT_ROLE),
  );
}
