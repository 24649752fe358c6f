// NetworkSettings
