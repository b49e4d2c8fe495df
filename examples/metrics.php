<?php
/* Counters of all workers of this PHP-FPM for Prometheus. Let the web server serve it to your network only:

       location = /metrics { allow 10.0.0.0/8; deny all; include fastcgi_params; fastcgi_pass unix:/run/php/php-fpm.sock;
                             fastcgi_param SCRIPT_FILENAME /srv/app/metrics.php; } */
header('Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8');
echo Dlock\metrics();
