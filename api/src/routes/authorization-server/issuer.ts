/** The path of the issuer. */
export const MOUNT_PATH = '/as';
/** The scope of access tokens: use of the MCP endpoints as the user. */
export const MCP_SCOPE = 'mcp';

/** The resources for which tokens are issued (RFC 8707). */
export interface TokenResources {
  /** The resource if a request names none. */
  defaultResource(): string;
  isResource(url: string): boolean;
}

/** The cookies of oidc-provider. `__Secure-`, because their paths are not `/`, which `__Host-` requires. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? '__Secure-behalf_as' : 'behalf_as';
  return { session: `${prefix}_session`, interaction: `${prefix}_interaction`, resume: `${prefix}_resume` };
}
