import type { Settings } from '@behalf/settings';

/** The authority that the file names for this issuer; undefined: the public ones. */
export function findCaFile({ identityProviders }: Settings, issuer: string): string | undefined {
  return identityProviders.find((provider) => provider.issuer === issuer)?.caFile;
}
