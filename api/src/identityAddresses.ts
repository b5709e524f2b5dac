import type { Path } from '@behalf/contracts';
import type { Settings } from '@behalf/settings';

/** Where the operator says that tokens are exchanged, and who vouches for users: open to the identity client, also in private space. */
export function identityAddresses({ identityProviders, authorizationServer }: Settings): {
  path: Path;
  url: string;
}[] {
  const exchanges = identityProviders.flatMap(
    ({ name, issuer, authority, tokenEndpoint, resourceServers = [] }) => {
      const path = ['identityProviders', name];
      return [
        ...toEntries(path, { issuer, authority, tokenEndpoint }),
        ...resourceServers.flatMap(({ issuer, tokenEndpoint }, index) =>
          toEntries([...path, 'resourceServers', index], { issuer, tokenEndpoint }),
        ),
      ];
    },
  );
  const trustedIssuers = (authorizationServer?.idJagIssuers ?? []).map((url, index) => ({
    path: ['authorizationServer', 'idJagIssuers', index],
    url,
  }));
  return [...exchanges, ...trustedIssuers];
}

function toEntries(
  path: Path,
  urls: Readonly<Record<string, string | undefined>>,
): { path: Path; url: string }[] {
  return Object.entries(urls).flatMap(([key, url]) =>
    url === undefined ? [] : [{ path: [...path, key], url }],
  );
}
