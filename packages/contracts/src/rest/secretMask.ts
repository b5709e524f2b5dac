/** Stands in an answer where a secret is, and in a request for the one that is known already. */
export const secretMask = '********';
