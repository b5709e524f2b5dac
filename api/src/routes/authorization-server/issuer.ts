/** The path of the one issuer. */
export const MOUNT_PATH = '/as';
/** What a token allows: to use what its user may use, through an MCP endpoint. */
export const MCP_SCOPE = 'mcp';

/** The endpoints that tokens are issued for. */
export interface TokenResources {
  /** Where none is named. */
  defaultResource(): string;
  isResource(url: string): boolean;
}

/** What the library keeps in browsers. `__Secure-`: they have paths of their own, which `__Host-` does not allow. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? '__Secure-behalf_as' : 'behalf_as';
  return { session: `${prefix}_session`, interaction: `${prefix}_interaction`, resume: `${prefix}_resume` };
}
