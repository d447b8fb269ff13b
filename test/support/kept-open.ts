/** Options of an HTTP server that closes no idle connection: it might do so just as a busy machine sends the next request. */
export const keptOpen = { keepAliveTimeout: 0 };
