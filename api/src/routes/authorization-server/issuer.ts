/** The path of the authorization server. It is part of the issuer identifier. */
export const MOUNT_PATH = '/as';
/** The scope of access tokens: use of the MCP endpoints as the user. */
export const MCP_SCOPE = 'mcp';

/** The names of oidc-provider's cookies. The prefix `__Host-` would require the path `/`, which these cookies do not have. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? '__Secure-behalf_as' : 'behalf_as';
  return { session: `${prefix}_session`, interaction: `${prefix}_interaction`, resume: `${prefix}_resume` };
}
