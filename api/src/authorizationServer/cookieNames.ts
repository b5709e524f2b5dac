/** What the library keeps in browsers. `__Secure-`: they have paths of their own, which `__Host-` does not allow. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? '__Secure-behalf_as' : 'behalf_as';
  return { session: `${prefix}_session`, interaction: `${prefix}_interaction`, resume: `${prefix}_resume` };
}
