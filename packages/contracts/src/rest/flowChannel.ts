/** The name of the channel on which a sign-in at a server tells its end, and what keys of `localStorage` begin with. */
export const flowChannel = 'behalf-oauth';
