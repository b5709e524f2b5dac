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
        ...said(path, { issuer, authority, tokenEndpoint }),
        ...resourceServers.flatMap(({ issuer, tokenEndpoint }, index) =>
          said([...path, 'resourceServers', index], { issuer, tokenEndpoint }),
        ),
      ];
    },
  );
  const vouching = (authorizationServer?.idJagIssuers ?? []).map((url, index) => ({
    path: ['authorizationServer', 'idJagIssuers', index],
    url,
  }));
  return [...exchanges, ...vouching];
}

function said(
  path: Path,
  places: Readonly<Record<string, string | undefined>>,
): { path: Path; url: string }[] {
  return Object.entries(places).flatMap(([key, url]) =>
    url === undefined ? [] : [{ path: [...path, key], url }],
  );
}
